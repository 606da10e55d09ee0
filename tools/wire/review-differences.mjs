/**
 * @typedef {object} KeptDifferences
 * @property {{ lines: string, reason: string }[]} rules - regular expressions for lines of the comparison, each with one reason
 * @property {Record<string, string>} differences - reasons by whole lines
 */

const shortestReason = 20;

/**
 * Divides differences into intended ones and ones without a reason.
 * @param {readonly string[]} lines - of the comparison
 * @param {KeptDifferences} known
 */
export function reviewDifferences(lines, { differences, rules }) {
  const patterns = rules.map(({ lines: text }) => ({ text, pattern: new RegExp(text, "u") }));
  const unexplained = lines.filter(
    (line) => !Object.hasOwn(differences, line) && !patterns.some(({ pattern }) => pattern.test(line)),
  );
  const idle = [
    ...Object.keys(differences).filter((line) => !lines.includes(line)),
    ...patterns.filter(({ pattern }) => !lines.some((line) => pattern.test(line))).map(({ text }) => text),
  ];
  const reasons = [...Object.entries(differences), ...rules.map(({ lines: text, reason }) => [text, reason])];
  const unreasoned = reasons
    .filter(([, reason]) => typeof reason !== "string" || reason.length < shortestReason)
    .map(([line]) => line);
  return { unexplained, idle, unreasoned, kept: lines.length - unexplained.length };
}
