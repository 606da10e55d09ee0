/** Sites choose the names of downloads, so none may leave the folder that an archive is unpacked in. */
export function archiveName(name: string): string {
  const safe = name
    .toWellFormed()
    .replaceAll(/[/\\:*?"<>|\p{Cc}\p{Cf}]/gu, "_")
    .replace(/^\.+$/, "_")
    .slice(0, 200);
  return safe === "" ? "download" : safe;
}
