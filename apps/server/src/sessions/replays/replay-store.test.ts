import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, it, onTestFinished } from "vitest";
import { ReplayStore } from "./replay-store.ts";

const id = "0".repeat(24);
const nowMs = Date.parse("2026-03-01T00:00:00Z");
const old = new Date("2026-01-01T00:00:00Z");

function open() {
  const directory = mkdtempSync(join(tmpdir(), "shoal-replays-"));
  onTestFinished(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  const quota = { maxRunning: 10, maxBytes: 2 ** 30 };
  const store = new ReplayStore({
    directory,
    retentionDays: 30,
    quota,
    log: pino({ level: "silent" }),
  });
  /** @returns the path of the film. */
  const add = (session: string, description: string, at: Date): string => {
    const film = join(directory, session, `${id}.mp4`);
    mkdirSync(join(directory, session));
    writeFileSync(film, "film");
    writeFileSync(join(directory, session, `${id}.json`), description);
    utimesSync(film, at, at);
    return film;
  };
  return { add, directory, store };
}

const finished = (at: Date): string => JSON.stringify({ replay_id: id, finished_at: at.toISOString() });

it("deletes old recordings also of sessions after one with a damaged description", async () => {
  const { add, directory, store } = open();
  const damaged = [add("a", "", old), add("b", "{", old), add("c", '{"replay_id":7}', old)];
  // Neither can be read.
  mkdirSync(join(directory, "d", `${id}.json`), { recursive: true });
  const expired = add("e", finished(old), old);
  const kept = [add("f", finished(new Date(nowMs)), old), add("g", "", new Date(nowMs))];
  expect(await store.sweep(nowMs)).toBe(4);
  expect([...damaged, expired, ...kept].map((path) => existsSync(path))).toEqual([
    false,
    false,
    false,
    false,
    true,
    true,
  ]);
});

it("lists a recording whose description is damaged, with the reason", async () => {
  const { add, store } = open();
  add("a", "", old);
  expect(await store.list("a")).toMatchObject([
    { replay_id: id, finished_at: old.toISOString(), failure_reason: "Its description is damaged." },
  ]);
});
