/** Formats a count, such as `1 token` or `2 tokens`. */
export function counted(count: number, one: string, several: string): string {
  return `${count} ${count === 1 ? one : several}`;
}
