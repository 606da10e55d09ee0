import { openSecondDatabase } from "@shoal/database";
import { join } from "node:path";

const days = 30;
const minuteMs = 60_000;
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Usage of the last days, which no request can make: as the service would have counted it. */
export async function writeUsageHistory(dataDir: string, projectId: string, keyId: string): Promise<void> {
  const database = await openSecondDatabase({ dataDir: join(dataDir, "database"), log: silent });
  try {
    const rows = Array.from({ length: days }, (_, ago) => {
      const at = new Date(Date.now() - (ago + 1) * 24 * 60 * minuteMs);
      const isWeekend = [0, 6].includes(at.getUTCDay());
      const sessions = Math.round((isWeekend ? 40 : 180) + 60 * Math.sin(ago * 1.7));
      return {
        date: at.toISOString().slice(0, 10),
        project_id: projectId,
        session_ms: sessions * 4.5 * minuteMs,
        sessions_started: sessions,
        peak_sessions: Math.ceil(sessions / 16),
        bytes_sent: sessions * 310_000,
        bytes_received: sessions * 9_400_000,
      };
    });
    await database.query
      .insertInto("usage_days")
      .values(
        rows.flatMap((row, ago) => [
          { ...row, scope: "project" as const, storage_bytes: 1_900_000_000 - ago * 31_000_000 },
          { ...row, scope: "api_key" as const, api_key_id: keyId },
        ]),
      )
      .execute();
  } finally {
    await database.close();
  }
}
