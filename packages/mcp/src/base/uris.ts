export function browserUri(id: string): string {
  return `shoal://browsers/${encodeURIComponent(id)}`;
}

/** @param path - an absolute path in the session. */
export function fileUri(id: string, path: string): string {
  return `${browserUri(id)}/files${path.split("/").map(encodeURIComponent).join("/")}`;
}

export function recordingUri(id: string, replayId: string): string {
  return `${browserUri(id)}/recordings/${encodeURIComponent(replayId)}`;
}
