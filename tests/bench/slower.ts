import { type Figure, format } from "./figure.ts";
import type { Record } from "./performance_page.ts";

/** Share by which a figure may become worse between two runs. */
const TOLERANCE = 0.1;

/**
 * Returns a line for each figure that is worse than in an earlier run by more than a tenth. Skips figures
 * that only one of the runs has. @param isCompared Selects figures; default: all.
 */
export function slower(
  before: Record,
  now: Record,
  isCompared: (figure: Figure) => boolean = () => true,
): string[] {
  return Object.entries(now).flatMap(([name, { figures }]) =>
    figures.filter(isCompared).flatMap((figure) => {
      const earlier = before[name]?.figures.find(({ what }) => what === figure.what);
      if (earlier === undefined || earlier.value <= 0 || figure.value <= 0) return [];
      const worse = isLowerBetter(figure) ? figure.value / earlier.value : earlier.value / figure.value;
      if (worse <= 1 + TOLERANCE) return [];
      const percent = Math.round((worse - 1) * 100);
      return `${name}: ${figure.what}: ${format(figure)}, was ${format(earlier)}, worse by ${percent} %`;
    })
  );
}

/** Reports whether a lower value is better: by the promise, or else for all but rates. */
function isLowerBetter({ what, unit, target }: Figure): boolean {
  if (target !== undefined) return "atMost" in target;
  return !(unit.endsWith("/s") || /^(?:rate|throughput)/.test(what));
}
