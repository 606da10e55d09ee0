/** The browser saves the answer, and never opens it as a page. */
export function saveUrl(url: string, name: string): void {
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
}

/** Saves data as a file in the person's downloads. */
export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  saveUrl(url, name);
  // The browser has opened the file by then.
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 60_000);
}
