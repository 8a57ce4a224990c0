/** Reports whether a text is a plain mail address: an ASCII local part without quotes, and a host name. Nothing else can enter a header or a command. */
export function isMailAddress(text: string): boolean {
  const [local = "", domain = "", ...more] = text.split("@");
  return more.length === 0 && text.length <= 254 && local.length <= 64 &&
    local.split(".").every((atom) => /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+$/.test(atom)) &&
    domain.split(".").every((label) => /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(label));
}
