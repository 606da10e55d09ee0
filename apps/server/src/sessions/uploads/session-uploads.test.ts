import { pino } from "pino";
import { expect, it, onTestFinished } from "vitest";
import { SessionUploads } from "./session-uploads.ts";

it("marks an ended session without files as stored, also without a store", async () => {
  const local = new Set(["full"]);
  const marked: string[] = [];
  const stored: string[] = [];
  const uploads = new SessionUploads({
    files: {
      isUploading: false,
      projectOf: () => Promise.resolve("project"),
      markStored: (id) => Promise.resolve(void marked.push(id)),
    },
    kinds: [
      {
        localSessions: () => Promise.resolve([...local]),
        store: ({ sessionId }) => Promise.resolve(void stored.push(sessionId)),
        hasLocal: ({ sessionId }) => Promise.resolve(local.has(sessionId)),
      },
    ],
    isRunning: (id) => id === "running",
    log: pino({ level: "silent" }),
  });
  onTestFinished(() => uploads.close());
  for (const id of ["full", "running", "empty"]) uploads.add(id);
  await expect.poll(() => uploads.waiting).toBe(0);
  expect(marked).toEqual(["empty"]);
  expect(stored).toEqual([]);
});
