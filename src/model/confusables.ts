import { foldCharacters } from "./distinguished_name.ts";

/** Returns why a text could be mistaken for another one, if it could: names in a list must look different. */
export function confusable(text: string): string | undefined {
  if (text.trim() === "") return "an empty value";
  if (/^[!-~]+(?: [!-~]+)*$/.test(text)) return undefined; // nearly all are plain
  if (/\p{Cc}/u.test(text)) return "a control character";
  if (/[^\P{Z} ]|^ | $| {2}/u.test(text)) return "blanks other than single ones between words";
  if (/[\p{C}\p{Default_Ignorable_Code_Point}]/u.test(text)) return "a character that does not show";
  if (text.normalize("NFKC") !== text.normalize("NFC")) return "a character that stands for others";
  for (const character of text) {
    if (character > "\x7f" && /^[ -~]+$/.test(foldCharacters(character))) {
      return "a disguised ASCII character";
    }
  }
  return undefined;
}
