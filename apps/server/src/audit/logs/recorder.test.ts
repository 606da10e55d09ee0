import { eventuallyPasses } from "@shoal/testkit";
import { describe, expect, it } from "vitest";
import { completeConfig } from "../../config/config.ts";
import { auditNote } from "../../testing/audit-note.ts";
import { createLog } from "../../log/log.ts";
import type { AuditNote } from "./entry.ts";
import { AuditRecorder } from "./recorder.ts";

describe("the recorder", () => {
  it("buffers entries while the database is unavailable, and writes them later", async () => {
    const written: AuditNote[] = [];
    let isAway = true;
    const log = await createLog(completeConfig({ data_dir: "/nowhere", log_level: "silent" }));
    const recorder = new AuditRecorder(
      {
        append: (notes) => {
          if (isAway) return Promise.reject(new Error("away"));
          written.push(...notes);
          return Promise.resolve();
        },
      },
      log,
    );
    const notes = Array.from({ length: 2500 }, () => auditNote());
    for (const one of notes) recorder.note(one);
    await recorder.flush();
    expect(written).toEqual([]);
    isAway = false;
    await eventuallyPasses(() => {
      expect(written).toEqual(notes);
    });
    recorder.note(auditNote({ id: "last" }));
    await recorder.close();
    expect(written.at(-1)?.id).toBe("last");
  });
});
