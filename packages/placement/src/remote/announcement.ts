import { RemoteListening } from "@shoal/instance";

/** Reads the line by which an instance with `remote` says that it listens. */
export function announcementOf(line: string): RemoteListening | undefined {
  if (!line.startsWith('{"listening":true,')) return undefined;
  try {
    const result = RemoteListening.safeParse(JSON.parse(line));
    return result.success ? result.data : undefined;
  } catch {
    return undefined;
  }
}
