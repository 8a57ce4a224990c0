import { foldCharacters } from "./distinguished_name.ts";

/**
 * Why a text from outside might be taken for another one, or for nothing at all; `undefined` if it reads as what it is.
 *
 * It must equal its own Unicode NFKC with single blanks, but for composition and case. So no two texts that pass are
 * compared as equal, unless they differ in case or composition alone. Whatever does not show is refused with it: an
 * operator who reads a list of names must not see two that look alike.
 */
export function confusable(text: string): string | undefined {
  if (text.trim() === "") return "an empty value";
  if (/^[!-~]+(?: [!-~]+)*$/.test(text)) return undefined; // nearly all are plain
  if (/\p{Cc}/u.test(text)) return "a control character";
  if (/[^\P{Z} ]|^ | $| {2}/u.test(text)) return "blanks other than single ones between words";
  if (/[\p{C}\p{Default_Ignorable_Code_Point}]/u.test(text)) return "a character that does not show";
  if (text.normalize("NFKC") !== text.normalize("NFC")) return "a character that stands for others";
  for (const character of text) {
    if (character > "\x7f" && isAscii(foldCharacters(character))) return "a disguised ASCII character";
  }
  return undefined;
}

function isAscii(text: string): boolean {
  return /^[ -~]+$/.test(text);
}
