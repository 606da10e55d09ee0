/**
 * Reads `Name: value` lines; empty lines are skipped.
 *
 * @throws {Error} for a line without a colon.
 */
export function namedValuesIn(text: string): Record<string, string> {
  const values: Record<string, string> = {};
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const colon = line.indexOf(":");
    if (colon < 1) throw new Error("Each line needs a name, a colon and a value, such as Authorization: Bearer x.");
    values[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  }
  return values;
}
