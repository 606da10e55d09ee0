import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Blobs, createFileBlobs } from "../../storage/blobs/blobs.ts";
import { createId } from "@shoal/primitives";
import { createLog } from "../../log/log.ts";
import { createSecrets } from "../../storage/secrets.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { type ProfileRef, ProfileStates } from "./profile-states.ts";
import { sessionRow } from "../../testing/session-row.ts";

let server: TestServer;
let folder: string;
let project: { id: string; key: string };
let states: ProfileStates;
/** When set, the store fails with this error. */
let failure: Error | undefined;
/** Called before an archive is read. */
let onRead = (): Promise<unknown> => Promise.resolve();

beforeAll(async () => {
  server = await startTestServer();
  project = await server.addProject("states");
  folder = await mkdtemp(join(tmpdir(), "shoal-states-"));
  const files = createFileBlobs(folder);
  const blobs: Blobs = {
    ...files,
    put: (source, options) => (failure === undefined ? files.put(source, options) : Promise.reject(failure)),
    async get(name, range) {
      await onRead();
      return files.get(name, range);
    },
  };
  const log = await createLog({ log_level: "silent", log_format: "json" });
  states = new ProfileStates({
    database: server.database,
    blobs,
    secrets: createSecrets("s".repeat(32)),
    keepVersions: 3,
    maxBytes: 1000,
    onChange: () => undefined,
    log,
  });
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await server.close();
});

async function profile(): Promise<ProfileRef> {
  const { body } = await server.request("POST", "/profiles", { key: project.key, body: {} });
  return { id: (body as { id: string }).id, project_id: project.id };
}

/** A session of another server, as a row. */
async function writer({ id: profile_id, project_id }: ProfileRef): Promise<string> {
  const id = createId();
  await server.database.query
    .insertInto("sessions")
    .values(
      sessionRow({
        id,
        project_id,
        profile_id,
        profile_save_changes: true,
      }),
    )
    .execute();
  return id;
}
const end = (id: string) =>
  server.database.query
    .updateTable("sessions")
    .set({ ended_at: new Date(), ended_reason: "deleted" })
    .where("id", "=", id)
    .execute();

const of = (content: string) => Readable.from([Buffer.from(content)]);
const present = async (ref: ProfileRef) => {
  const state = await states.open(ref);
  return state === undefined ? undefined : `${String(state.version)} ${await text(state.archive)}`;
};

it("returns saved states, keeps the latest versions, and deletes archives without a version", async () => {
  const ref = await profile();
  expect(await present(ref)).toBeUndefined();
  for (const content of ["one", "two", "three", "four"]) await states.save(ref, { source: "import" }, of(content));
  expect(await present(ref)).toBe("4 four");
  expect(
    (await states.list(ref.id, { limit: 10, offset: 0 })).items.map(({ version, is_current }) => [version, is_current]),
  ).toEqual([
    [4, true],
    [3, false],
    [2, false],
  ]);
  expect(await states.open(ref, 1)).toBeUndefined();
  expect(await readdir(folder)).toHaveLength(3);
  await states.rollback(ref, 2);
  expect(await present(ref)).toBe("5 two");
  await expect(states.rollback(ref, 1)).rejects.toMatchObject({ status: 404 });
  // The third state and the first one with its content are gone; two versions use the second archive.
  expect(await readdir(folder)).toHaveLength(3);
  const { body } = await server.request("GET", `/profiles/${ref.id}`, { key: project.key });
  expect(body).toMatchObject({ version: 5, size_bytes: 3 });
});

it("opens the next version when a session replaces the requested version", async () => {
  const ref = await profile();
  const sessionId = await writer(ref);
  await states.save(ref, { source: "checkpoint", sessionId }, of("early"));
  onRead = async () => {
    onRead = () => Promise.resolve();
    await states.save(ref, { source: "checkpoint", sessionId }, of("late"));
  };
  expect(await present(ref)).toBe("2 late");
});

it("stores one version per session, and none of a session that was declared dead", async () => {
  const ref = await profile();
  const session = await writer(ref);
  await states.save(ref, { source: "checkpoint", sessionId: session }, of("early"));
  await expect(writer(ref)).rejects.toMatchObject({ code: "23505", constraint: "sessions_profile_writer" });
  await expect(states.save(ref, { source: "import" }, of("other"))).rejects.toMatchObject({
    status: 409,
    code: "profile_in_use",
    message: expect.stringContaining(session) as unknown,
  });
  await expect(states.rollback(ref, 1)).rejects.toMatchObject({ status: 409 });
  await states.save(ref, { source: "session", sessionId: session }, of("late"));
  expect((await states.list(ref.id, { limit: 10, offset: 0 })).items).toMatchObject([
    { version: 2, source: "session", session_id: session },
  ]);
  await end(session);
  const before = await readdir(folder);
  await expect(states.save(ref, { source: "session", sessionId: session }, of("too late"))).rejects.toMatchObject({
    status: 409,
  });
  expect(await readdir(folder)).toEqual(before);
  expect(await present(ref)).toBe("2 late");
  await end(await writer(ref));
});

it("keeps each version that a user saved, and the latest one before a crash", async () => {
  const ref = await profile();
  const sessionId = await writer(ref);
  const versions = async () =>
    (await states.list(ref.id, { limit: 10, offset: 0 })).items.map(({ version, source }) => [version, source]);
  await states.save(ref, { source: "checkpoint", sessionId }, of("automatic"));
  await states.save(ref, { source: "save", sessionId }, of("asked for"));
  await states.save(ref, { source: "checkpoint", sessionId }, of("before the crash"));
  expect(await versions()).toEqual([
    [3, "checkpoint"],
    [2, "save"],
  ]);
  expect(
    await states.save(ref, { source: "checkpoint", sessionId, keepThroughVersion: 3 }, of("after the crash")),
  ).toBe(4);
  await states.save(ref, { source: "session", sessionId, keepThroughVersion: 3 }, of("the end"));
  expect(await versions()).toEqual([
    [5, "session"],
    [3, "checkpoint"],
    [2, "save"],
  ]);
  await end(sessionId);
});

it("keeps the previous version when the store fails or the state is too large", async () => {
  const ref = await profile();
  await states.save(ref, { source: "import" }, of("kept"));
  failure = new Error("the disk is full");
  await expect(states.save(ref, { source: "import" }, of("lost"))).rejects.toThrow("the disk is full");
  failure = undefined;
  await expect(states.save(ref, { source: "import" }, of("x".repeat(1001)))).rejects.toMatchObject({
    status: 413,
    message: expect.stringContaining("profile_max_mib") as unknown,
  });
  await states.noteFailure(ref.id, "the disk is full");
  expect((await server.request("GET", `/profiles/${ref.id}`, { key: project.key })).body).toMatchObject({
    version: 1,
    last_save_error: "the disk is full",
  });
  expect(await present(ref)).toBe("1 kept");
  await states.save(ref, { source: "import" }, of("x".repeat(1000)));
  await expect
    .poll(async () => (await server.request("GET", `/profiles/${ref.id}`, { key: project.key })).body)
    .not.toHaveProperty("last_save_error");
});

it("reports a state that was changed in the store, or is missing", async () => {
  const ref = await profile();
  const before = new Set(await readdir(folder));
  await states.save(ref, { source: "import" }, of("whole"));
  const path = join(folder, (await readdir(folder)).find((name) => !before.has(name)) ?? "");
  const stored = await readFile(path);
  expect(stored.includes("whole")).toBe(false);
  stored.writeUInt8(stored.readUInt8(stored.length - 1) ^ 1, stored.length - 1);
  await writeFile(path, stored);
  await expect(present(ref)).rejects.toThrow("was changed");
  await rm(path);
  await expect(present(ref)).rejects.toMatchObject({
    status: 500,
    message: expect.stringContaining("blobs_dir") as unknown,
  });
});

it("returns the usual errors for a missing state and invalid input", async () => {
  const { id } = await profile();
  const { key } = project;
  expect((await server.request("GET", `/profiles/${id}/download`, { key })).status).toBe(202);
  expect((await server.request("GET", `/profiles/${id}/storage_state`, { key })).status).toBe(202);
  expect(await server.request("GET", `/profiles/${id}/download?version=1`, { key })).toMatchObject({ status: 404 });
  expect(await server.request("POST", `/profiles/${id}/rollback`, { key, body: { version: 1 } })).toMatchObject({
    status: 404,
  });
  const state = {
    cookies: [
      {
        name: "a",
        value: "b",
        domain: "example.com",
        path: "/",
        expires: -1,
        httpOnly: true,
        secure: true,
        sameSite: "Lax",
      },
    ],
    origins: [{ origin: "https://example.com", localStorage: [{ name: "c", value: "d" }] }],
  };
  expect(await server.request("PUT", `/profiles/${id}/storage_state`, { key, body: state })).toMatchObject({
    status: 200,
    body: { version: 1 },
  });
  expect((await server.request("GET", `/profiles/${id}/storage_state`, { key })).body).toEqual(state);
  const copy = await server.request("POST", `/profiles/${id}/clone`, { key, body: { name: "copied" } });
  expect(copy).toMatchObject({ status: 201, body: { name: "copied", version: 1 } });
  expect(await server.request("POST", `/profiles/${id}/clone`, { key, body: { name: "copied" } })).toMatchObject({
    status: 409,
    body: { code: "name_taken" },
  });
  expect((await server.request("DELETE", `/profiles/${id}`, { key })).status).toBe(204);
  expect((await server.request("GET", "/profiles/copied/storage_state", { key })).body).toEqual(state);
  expect((await server.request("GET", "/profiles/copied/versions", { key })).body).toMatchObject([
    { version: 1, source: "clone", is_current: true },
  ]);
});
