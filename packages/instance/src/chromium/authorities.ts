import { execFile } from "node:child_process";
import { lstat, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { findProgram } from "../display/find-program.ts";

const run = promisify(execFile);

/** A hundred certificates take a tenth of a second. */
const certutilTimeoutMs = 20_000;
const database = "nssdb";

/**
 * Sets the authorities that browsers of a home directory trust for servers beside the ones that they know: full Chromiums and headless shells alike read the
 * NSS database there, once, as they start. None may run meanwhile. The database is replaced as a whole, or stays as it is where that fails.
 *
 * @param home - as a path of the system that the instance runs on.
 * @param pem - certificates; the database is taken away when it is empty.
 * @throws where there is no `certutil`, or it does not take one of them.
 */
export async function trustAuthorities(home: string, pem: string): Promise<void> {
  const folder = join(home, ".pki");
  const isOwn = await lstat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  // Whatever a program of the session has put there, a link above all: nothing is written behind it.
  if (!isOwn) await rm(folder, { force: true });
  const place = join(folder, database);
  if (pem === "") {
    await rm(place, { recursive: true, force: true });
    return;
  }
  const fresh = join(folder, `${database}.new`);
  await rm(fresh, { recursive: true, force: true });
  await mkdir(fresh, { recursive: true, mode: 0o700 });
  await fill(fresh, pem);
  await rm(place, { recursive: true, force: true });
  await rename(fresh, place);
}

async function fill(folder: string, pem: string): Promise<void> {
  const certutil = process.platform === "linux" ? await findProgram("certutil") : undefined;
  if (certutil === undefined) throw new Error("there is no certutil to tell it of authorities with");
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const names = certificates.map((_certificate, index) => `${String(index)}.pem`);
  await Promise.all(certificates.map((text, index) => writeFile(join(folder, `${String(index)}.pem`), `${text}\n`)));
  // C: may sign certificates of servers, and of nobody else. Paths have no room for spaces here, so they are relative ones.
  await writeFile(join(folder, "batch"), names.map((name, index) => `-A -n authority-${String(index)} -t C,, -a -i ${name}\n`).join(""));
  for (const options of [
    ["-N", "--empty-password"],
    ["-B", "-i", "batch"],
  ])
    await run(certutil, ["-d", "sql:.", ...options], { cwd: folder, timeout: certutilTimeoutMs });
  await Promise.all([...names, "batch"].map((name) => rm(join(folder, name))));
}
