import { openBackupSource } from "@shoal/database";
import { join } from "node:path";

/** Every row of the embedded database of a service, as JSON. @param folder - of the service. */
export async function storedRows(folder: string): Promise<string> {
  const ignore = () => undefined;
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const source = await openBackupSource({ dataDir: join(folder, "database"), log });
  const rows: string[] = [];
  try {
    for await (const chunk of source.chunks()) rows.push(...chunk.rows.map((row) => `${chunk.table} ${row}`));
  } finally {
    await source.close();
  }
  return rows.join("\n");
}
