/** PostgreSQL stores neither NUL characters nor half surrogate pairs. @param maxLength - longer texts are cut. */
export function storableText(text: string, maxLength: number): string {
  return text.slice(0, maxLength).replaceAll("\0", "\uFFFD").toWellFormed();
}
