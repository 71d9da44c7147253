// Errors that say the same of different things: what differs is left out.

const GAP = "\u0000";

// Numbers of up to three digits stay: 404 and 503 are different errors.
const OTHER = new RegExp([
  "[\\w.+%-]+@[\\w-]+(?:\\.[\\w-]+)*", // mail addresses
  '"[^"]*"', "(?<!\\w)'[^']*'(?!\\w)", "`[^`]*`", "“[^”]*”", "«[^»]*»", // quoted parts
  "\\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\\b", // UUIDs
  "\\b\\d{1,3}(?:\\.\\d{1,3}){3}\\b", // IP addresses
  "(?<![\\w:])(?=[0-9a-fA-F:]*::|(?:[0-9a-fA-F]+:){7})[0-9a-fA-F:]*:[0-9a-fA-F]+(?![\\w:])",
  "\\b0x[0-9a-fA-F]+\\b", "\\b(?=[a-fA-F]*\\d)[0-9a-fA-F]{8,}\\b", // long hex
  "\\d{4,}", // numbers
].join("|"), "g");

/** What lines of one kind have in common. */
export const fold = (line) => line.replaceAll(GAP, " ").replace(OTHER, GAP);

/** The same for people. */
export const foldShown = (folded) => folded.replaceAll(GAP, "…");

/** The longest text that each line of that kind has; "" where it is too short to tell them from others. */
export function foldLiteral(folded) {
  const longest = folded.split(GAP).map((part) => part.trim()).reduce((one, other) => (other.length > one.length ? other : one), "");
  return longest.length < 4 ? "" : longest;
}
