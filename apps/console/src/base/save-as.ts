/** Saves data as a file in the person's downloads. */
export function saveAs(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  // The browser has opened the file by then.
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 60_000);
}
