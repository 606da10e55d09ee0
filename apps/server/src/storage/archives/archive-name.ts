/** Sites choose the names of downloads, so none may leave the folder that an archive is unpacked in. */
export function archiveName(name: string): string {
  const safe = name
    .slice(0, 200)
    // Afterwards, as the cut may halve a surrogate pair.
    .toWellFormed()
    .replaceAll(/[/\\:*?"<>|\p{Cc}\p{Cf}]/gu, "_")
    .replace(/^\.+$/, "_");
  return safe === "" ? "download" : safe;
}
