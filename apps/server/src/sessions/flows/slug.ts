/** A name for a program of a text: lower case letters, digits and underscores, at most 40; empty without letters. */
export function slugOf(text: string): string {
  const words =
    text
      .slice(0, 1000)
      .normalize("NFKD")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  return words
    .join("_")
    .replace(/^[^a-z]+/, "")
    .slice(0, 40);
}
