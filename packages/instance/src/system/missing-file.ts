const maxShownPath = 500;

export function shownPath(path: string): string {
  return path.slice(0, maxShownPath);
}

/** The answer to a client that names a file of the machine that it runs on. */
export function missingFile(path: string): string {
  return `files: ${shownPath(path)} does not exist in the session, which cannot read files of the client's machine. Upload it with browsers.fs.upload and use its absolute path in the session, or send its content, as Playwright does for setInputFiles({ name, mimeType, buffer }).`;
}
