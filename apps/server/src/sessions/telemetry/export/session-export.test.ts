import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { readChunk, seqOf, writeEvents } from "../../../storage/telemetry-files/event-files.ts";
import { SessionExport } from "./session-export.ts";

it("sends each event once, also lines of an instance that are invalid UTF-8", async () => {
  const folder = mkdtempSync(join(tmpdir(), "shoal-export-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const writer = writeEvents(folder, 2 ** 20);
  const sent: (number | undefined)[] = [];
  let listener: (() => void) | undefined;
  let position = { place: 0, seq: 0 };
  const exported = new SessionExport({
    events: {
      position: () => position,
      onKept(added) {
        listener = added;
        return () => undefined;
      },
      read: (place, maxBytes) => readChunk(folder, place, maxBytes),
    },
    destination: () => Promise.resolve({ url: "https://collector.example" } as never),
    send(_to, lines) {
      sent.push(...lines.map(seqOf));
      if (sent.length > 2_000) exported.giveUp();
      return Promise.resolve({ result: { outcome: "taken", answer: new Uint8Array() }, rejected: 0 } as never);
    },
    gate: (run) => run(),
    counter: { sent: () => undefined, rejected: () => undefined, dropped: () => undefined, retried: () => undefined },
  });
  // As text, each invalid byte has three bytes: most of them are in the lines after the first batch.
  const lines = Array.from({ length: 600 }, (_, index) =>
    Buffer.concat([
      Buffer.from(`{"seq":${String(index + 1)},"event":{"ts":1,"x":"`),
      Buffer.alloc(index < 512 ? 8 : 4_000, 0xff),
      Buffer.from('"}}\n'),
    ]),
  );
  await writer.append(Buffer.concat(lines));
  position = { place: writer.place, seq: 600 };
  listener?.();
  exported.finish();
  await exported.done;
  await writer.close();
  expect(sent).toEqual(Array.from({ length: 600 }, (_, index) => index + 1));
});
