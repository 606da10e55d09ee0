import { eventuallyPasses } from "@shoal/testkit";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { type Database, DatabaseError, openDatabase } from "../index.ts";
import { isRoot, unshare } from "../testing/conditions.ts";
import {
  expectNoProcess,
  expectQuiet,
  failed,
  holding,
  mode,
  succeeded,
  useScratch,
} from "../testing/data-directories.ts";
import { recordingLog } from "../testing/logs.ts";
import { postgresIn, postmasterOf, startHolder } from "../testing/processes.ts";
import { findBinaries } from "./binaries.ts";

const scratch = useScratch();

describe("an embedded database", () => {
  it("is created once, private and durable, and keeps its rows", async () => {
    const dataDir = scratch.path("deep", `a b, "c" 'd' ü%20`);
    const log = recordingLog();
    const first = await openDatabase({ dataDir, log });
    const projects = await first.query.selectFrom("projects").select(["id", "name", "is_default"]).execute();
    expect(projects).toEqual([
      { id: expect.stringMatching(/^[a-z][a-z0-9]{23}$/) as string, name: "default", is_default: true },
    ]);
    expect(first.embedded).toBe(true);
    expect(await mode(dataDir)).toBe("700");
    expect(await mode(join(dataDir, "pgdata"))).toBe("700");
    expect(await mode(join(dataDir, "run"))).toBe("700");
    const { rows } = await sql<Record<string, string>>`
      select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes, current_setting('synchronous_commit') as synchronous_commit,
        current_setting('server_encoding') as encoding, current_setting('listen_addresses') as addresses`.execute(
      first.query,
    );
    expect(rows[0]).toEqual({
      fsync: "on",
      full_page_writes: "on",
      synchronous_commit: "on",
      encoding: "UTF8",
      addresses: "",
    });
    await first.close();
    await first.close();
    await expectQuiet(dataDir);

    const second = await openDatabase({ dataDir, log });
    expect(await second.query.selectFrom("projects").select(["id", "name", "is_default"]).execute()).toEqual(projects);
    await second.close();
    expect(log.lines.filter((line) => line.includes("created a new database"))).toHaveLength(1);
    expect(log.lines.filter((line) => line.includes("migrated the database"))).toHaveLength(1);
    expect(log.lines.filter((line) => /^(?:warn|error)/.test(line))).toEqual([]);
  });

  it("restarts a killed PostgreSQL, even in a path too long for a socket", async () => {
    const dataDir = scratch.path("long".repeat(40));
    const log = recordingLog();
    const database = await openDatabase({ dataDir, log });
    const { socket_dir } = JSON.parse(await readFile(join(dataDir, "owner.json"), "utf8")) as { socket_dir: string };
    expect(await mode(socket_dir)).toBe("700");
    expect(socket_dir.startsWith(dataDir)).toBe(false);
    const heard: unknown[] = [];
    database.onChange((change) => heard.push(change));
    // A break has no query to report to on a silent connection.
    const held = database.query.transaction().execute(async (transaction) => {
      await sql`select 1`.execute(transaction);
      process.kill(postmasterOf(dataDir), "SIGKILL");
      await eventuallyPasses(() => {
        expect(heard).toContain(undefined);
      });
      await sql`select 1`.execute(transaction);
    });
    await expect(held).rejects.toThrow();
    await eventuallyPasses(async () => {
      expect(await database.query.selectFrom("projects").select("name").execute()).toEqual([{ name: "default" }]);
      expect(database.isListening()).toBe(true);
    });
    expect(log.lines.some((line) => line.startsWith("error the embedded PostgreSQL ended unexpectedly"))).toBe(true);
    await database.close();
    expect(existsSync(socket_dir)).toBe(false);
    await expectQuiet(dataDir);
  });

  it("listens on loopback with a password if Unix sockets are unavailable", async () => {
    const { startEmbedded } = await import("./embedded-postgres.ts");
    const dataDir = scratch.path("tcp");
    const log = recordingLog();
    const options = { directory: dataDir, log, platform: process.platform, arch: process.arch, tcp: true };
    const first = await startEmbedded(options);
    if ("url" in first.target) throw new Error("unexpected");
    const { host, port, user, password, database } = first.target;
    if (password === undefined) throw new Error("no password was made");
    expect(host).toBe("127.0.0.1");
    expect(await mode(join(dataDir, "password"))).toBe("600");
    const url = `postgres://${user}:${encodeURIComponent(password)}@${host}:${port}/${database}`;
    const connected = await openDatabase({ url, dataDir: "", log });
    await connected.close();
    const refused = await openDatabase({
      url: url.replace(encodeURIComponent(password), "wrong"),
      dataDir: "",
      log,
    }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "authentication_failed" });
    await first.stop();
    const second = await startEmbedded(options);
    expect(second.target).toMatchObject({ password });
    await second.stop();
    expect(postgresIn(dataDir)).toEqual([]);
  });
});

describe("concurrent starts", () => {
  it("run independently on different directories", async () => {
    const reports = await Promise.all(
      ["side-1", "side-2"].map((name) => succeeded(scratch.hold(startHolder({ dataDir: scratch.path(name) })))),
    );
    expect(new Set(reports.map(({ projects }) => projects[0])).size).toBe(2);
  });

  it("are refused at once on a directory in use, without affecting its holder", async () => {
    const dataDir = scratch.path("side-2");
    const holder = scratch.hold(startHolder({ dataDir }));
    const { pid } = await succeeded(holder);
    const postmaster = postmasterOf(dataDir);
    const log = recordingLog();
    const startedAt = performance.now();
    const error: unknown = await openDatabase({ dataDir, log }).catch((reason: unknown) => reason);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(DatabaseError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({
      code: "data_dir_locked",
      message: `The data directory ${dataDir} is in use by process ${pid}.`,
    });
    const other = await failed(scratch.hold(startHolder({ dataDir })));
    expect(other).toMatchObject({ code: "data_dir_locked" });
    expect(other.message).toContain(String(pid));
    expect(postmasterOf(dataDir)).toBe(postmaster);
    expect(await holder.close()).toBe(0);
    await expectQuiet(dataDir);
  });

  it("let one process win an empty directory, and report its id to the others", async () => {
    const dataDir = scratch.path("race");
    const log = recordingLog();
    const results = await Promise.allSettled([1, 2, 3].map(() => openDatabase({ dataDir, log })));
    const won = results.filter((result) => result.status === "fulfilled");
    expect(won).toHaveLength(1);
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "data_dir_locked" });
    }
    expect(await failed(scratch.hold(startHolder({ dataDir })))).toMatchObject({
      code: "data_dir_locked",
      message: holding(`process ${process.pid}.`),
    });
    await Promise.all(won.map(({ value }) => value.close()));
    await expectQuiet(dataDir);
  });
});

describe("after kill -9", () => {
  it.skipIf(process.platform !== "linux")(
    "of the owner, ends all processes and keeps all rows for the next start",
    async () => {
      const dataDir = scratch.path("side-1");
      const holder = startHolder({ dataDir });
      const { projects } = await succeeded(holder);
      await holder.kill();
      await expectNoProcess(dataDir);
      const log = recordingLog();
      const next = await openDatabase({ dataDir, log });
      expect(await next.query.selectFrom("projects").select("id").execute()).toEqual(projects.map((id) => ({ id })));
      await next.close();
      await expectQuiet(dataDir);
    },
  );

  it("of the owner, waits for the old PostgreSQL before an immediate start", async () => {
    const dataDir = scratch.path("side-1");
    const holder = startHolder({ dataDir });
    await succeeded(holder);
    await holder.kill();
    const next = await openDatabase({ dataDir, log: recordingLog() });
    await next.close();
    await expectQuiet(dataDir);
  });

  it("of the owner and its PostgreSQL, recovers on the next start", async () => {
    const dataDir = scratch.path("side-1");
    const holder = startHolder({ dataDir });
    await succeeded(holder);
    const postmaster = postmasterOf(dataDir);
    process.kill(postmaster, "SIGKILL");
    await holder.kill();
    const next = await openDatabase({ dataDir, log: recordingLog() });
    await next.close();
    await expectQuiet(dataDir);
  });

  it("of the owner alone, stops the orphaned PostgreSQL on the next start", async () => {
    const dataDir = scratch.path("side-1");
    const { postgres } = await findBinaries(process.platform, process.arch);
    const asUser = isRoot ? ["--user", "--map-user=1", "--map-group=1"] : [];
    const orphan = spawn(
      unshare,
      [...asUser, postgres, "-D", join(dataDir, "pgdata"), "-k", dataDir, "-c", "listen_addresses="],
      {
        stdio: "ignore",
        env: { ...process.env, LC_ALL: "C" },
      },
    );
    const ended = new Promise((resolve) => orphan.once("close", resolve));
    await eventuallyPasses(async () => {
      expect(await readFile(join(dataDir, "pgdata", "postmaster.pid"), "utf8")).toContain("ready");
    });
    const log = recordingLog();
    const next = await openDatabase({ dataDir, log });
    expect(await ended).toBe(0);
    expect(
      log.lines.some((line) => line.startsWith("warn stopping the PostgreSQL that a killed process left behind")),
    ).toBe(true);
    await next.close();
    await expectQuiet(dataDir);
  });

  it("of all processes, starts even if another process reuses an id", async () => {
    const dataDir = scratch.path("side-1");
    const innocent = spawn("sleep", ["60"], { stdio: "ignore" });
    await writeFile(
      join(dataDir, "pgdata", "postmaster.pid"),
      `${String(innocent.pid)}\n${join(dataDir, "pgdata")}\n1700000000\n5432\n${dataDir}\n\n        1         2\nready   \n`,
    );
    const next = await openDatabase({ dataDir, log: recordingLog() });
    await next.close();
    expect(innocent.exitCode).toBeNull();
    innocent.kill();
    await expectQuiet(dataDir);
  });

  it("during initdb, creates the database again on the next start", async () => {
    let dataDir = "";
    // On a busy machine, initdb may finish before the kill; another attempt follows.
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      dataDir = scratch.path(`half-made-${String(attempt)}`);
      const holder = scratch.hold(startHolder({ dataDir }));
      const isHalfMade = async () => {
        const draft = (await readdir(dataDir)).find((name) => name.startsWith("initdb-"));
        expect(draft).toBeDefined();
        expect(await readdir(join(dataDir, draft ?? "", "pgdata"))).toContain("base");
      };
      const isDone = holder.report.then(() => undefined);
      await Promise.race([eventuallyPasses(isHalfMade), isDone]);
      await holder.kill();
      if (!existsSync(join(dataDir, "pgdata"))) break;
      await expectNoProcess(dataDir);
    }
    expect(existsSync(join(dataDir, "pgdata"))).toBe(false);
    const next = await openDatabase({ dataDir, log: recordingLog() });
    expect(await next.query.selectFrom("projects").select("name").execute()).toEqual([{ name: "default" }]);
    await next.close();
    await expectQuiet(dataDir);
  });
});

describe("openDatabase", () => {
  it("reports a newer schema, and stops PostgreSQL", async () => {
    const dataDir = scratch.path("side-2");
    const database = await openDatabase({ dataDir, log: recordingLog() });
    await sql`insert into shoal_migrations (name, timestamp) values ('0999_future', now()::text)`.execute(
      database.query,
    );
    await database.close();
    expect(await attempt(dataDir)).toEqual({ code: "schema_newer", message: holding("0999_future") });
    await expectQuiet(dataDir);
  });

  const attempt = async (dataDir: string): Promise<unknown> => {
    const result = await openDatabase({ dataDir, log: recordingLog() }).catch((error: unknown) => error);
    if (DatabaseError.isInstance(result)) return { code: result.code, message: result.message };
    await (result as Database).close();
    throw new Error("the database was opened");
  };

  it("reports a data directory that is a file or below one", async () => {
    const file = scratch.path("file");
    await writeFile(file, "");
    expect(await attempt(file)).toEqual({ code: "data_dir_unwritable", message: holding(file) });
    expect(await attempt(join(file, "data"))).toEqual({ code: "data_dir_unwritable", message: holding(file) });
  });

  it("reports missing binaries for the platform", async () => {
    const error: unknown = await findBinaries("sunos", "sparc").catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "embedded_unavailable",
      message: holding("sunos-sparc"),
      hint: holding("URL of a PostgreSQL 14"),
    });
  });

  it("reports a database of another PostgreSQL version", async () => {
    const dataDir = scratch.path("other-version");
    await mkdir(join(dataDir, "pgdata"), { recursive: true });
    await writeFile(join(dataDir, "pgdata", "PG_VERSION"), "16\n");
    expect(await attempt(dataDir)).toEqual({
      code: "data_version",
      message: holding("needs PostgreSQL 16, but this program includes PostgreSQL 18"),
    });
  });
});
