import type { Download } from "@shoal/transport";

/** Reads a download whole. The caller limits its size. */
export async function blobOf(download: Download, type: string): Promise<Blob> {
  return new Blob([await new Response(download.stream).arrayBuffer()], { type });
}

/**
 * Saves a download as a file of the person. Reads it whole: the header of the console's requests cannot be sent with a
 * link.
 */
export async function saveDownload(download: Download | undefined, name: string): Promise<void> {
  if (download === undefined) throw new Error("The download is empty.");
  saveBlob(await blobOf(download, "application/octet-stream"), name);
}

/** The browser saves the bytes and never opens them as a page. */
export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
