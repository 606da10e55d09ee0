import type { Download } from "@shoal/transport";

/** Reads a download whole. The caller limits its size. */
export async function blobOf(download: Download, type: string): Promise<Blob> {
  return new Blob([await new Response(download.stream).arrayBuffer()], { type });
}
