import stringWidth from "fast-string-width";

/** Untrusted text must not control the terminal. */
export function printable(text: string): string {
  // Also escapes marks of text direction, which could make one name look like another.
  // oxlint-disable-next-line no-control-regex -- matches control characters on purpose
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (character) => {
    const code = character.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
  });
}

/** Keeps line breaks and tabs. */
export function printableLines(text: string): string {
  return text
    .split("\n")
    .map((line) => line.split("\t").map(printable).join("\t"))
    .join("\n");
}

export type Moments = "absolute" | "relative" | "both";

const secondMs = 1000;
const units = [
  ["d", 24 * 60 * 60 * secondMs],
  ["h", 60 * 60 * secondMs],
  ["min", 60 * secondMs],
  ["s", secondMs],
] as const;

/** `3 min ago` or `in 45 s`, and the date beyond 60 days. */
export function relativeTime(moment: Date, now: Date): string {
  const distanceMs = moment.getTime() - now.getTime();
  const sizeMs = Math.abs(distanceMs);
  if (sizeMs > 60 * units[0][1]) return moment.toISOString().slice(0, 10);
  const [name, unitMs] = units.find(([, ms]) => sizeMs >= ms) ?? ["s", secondMs];
  const count = Math.floor(sizeMs / unitMs);
  if (count === 0) return "now";
  return distanceMs < 0 ? `${String(count)} ${name} ago` : `in ${String(count)} ${name}`;
}

function isTimestamp(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text);
}

function moment(text: string, moments: Moments, now: Date): string {
  const absolute = text.replace("T", " ").replace(/\.\d+Z$/, "Z");
  const relative = relativeTime(new Date(text), now);
  return moments === "absolute" ? absolute : moments === "relative" ? relative : `${absolute} (${relative})`;
}

/** Formats lists with commas, objects as `key=value` pairs, missing values as `-`. */
export function cell(value: unknown, moments: Moments = "absolute", now: Date = new Date()): string {
  if (value === undefined || value === null || value === "") return "-";
  if (typeof value === "string") return isTimestamp(value) ? moment(value, moments, now) : printable(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return value.length === 0 ? "-" : value.map((item) => cell(item)).join(", ");
  if (typeof value !== "object") return "-";
  if ("width" in value && "height" in value)
    return `${cell(value.width)}x${cell(value.height)}${"refresh_rate" in value ? `@${cell(value.refresh_rate)}` : ""}`;
  const entries = Object.entries(value);
  if (entries.length === 0) return "-";
  // An action of an app, with its schemas.
  if ("name" in value && entries.some(([key, field]) => key.endsWith("_schema") && typeof field === "object"))
    return cell(value.name);
  return entries
    .map(
      ([key, field]) =>
        `${printable(key)}=${typeof field === "object" && field !== null ? printable(JSON.stringify(field)) : cell(field)}`,
    )
    .join(" ");
}

export function truncate(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += stringWidth(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

const narrowest = 8;

/** Narrows the widest columns until the table fits, but never the first column. */
export function fitColumns(widths: readonly number[], available: number): number[] {
  const fitted = [...widths];
  const gaps = 2 * (widths.length - 1);
  for (let excess = fitted.reduce((sum, width) => sum + width, gaps) - available; excess > 0; excess--) {
    const widest = Math.max(narrowest, ...fitted.slice(1));
    const index = fitted.findLastIndex((width, at) => at > 0 && width === widest);
    if (index < 0 || widest === narrowest) break;
    fitted[index] = widest - 1;
  }
  return fitted;
}

/** Uses a gap of two spaces; the columns in `right` align right. */
export function alignColumns(
  rows: readonly (readonly string[])[],
  options: { readonly right: ReadonlySet<number>; readonly available: number },
): string[] {
  const natural =
    rows[0]?.map((_heading, column) => Math.max(...rows.map((row) => stringWidth(row[column] ?? "")))) ?? [];
  const widths = fitColumns(natural, options.available);
  return rows.map((row) =>
    row
      .map((text, column) => {
        const width = widths[column] ?? 0;
        const cut = truncate(text, width);
        const padding = " ".repeat(width - stringWidth(cut));
        return options.right.has(column) ? padding + cut : cut + padding;
      })
      .join("  ")
      .trimEnd(),
  );
}
