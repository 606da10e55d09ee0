import { execFile } from "node:child_process";
import { lstat, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { findProgram } from "../../system/find-program.ts";

const run = promisify(execFile);

/** A hundred certificates take a tenth of a second. */
const certutilTimeoutMs = 20_000;
const database = "nssdb";

/**
 * Browsers read the NSS database once, at startup, so none may run meanwhile. On failure it stays unchanged.
 * @param pem - when empty, the database is removed. @throws when `certutil` is missing or rejects a certificate.
 */
export async function trustAuthorities(home: string, pem: string): Promise<void> {
  const folder = join(home, ".pki");
  const isOwn = await lstat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  // Removes a link or file that a program of the session left there, so that nothing is written through it.
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
  if (certutil === undefined)
    throw new Error("certutil is not installed; it is needed to trust additional certificate authorities");
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const names = certificates.map((_certificate, index) => `${String(index)}.pem`);
  await Promise.all(certificates.map((text, index) => writeFile(join(folder, `${String(index)}.pem`), `${text}\n`)));
  // C: trusted to sign server certificates only. The batch format cannot quote spaces, so paths are relative.
  await writeFile(
    join(folder, "batch"),
    names.map((name, index) => `-A -n authority-${String(index)} -t C,, -a -i ${name}\n`).join(""),
  );
  for (const options of [
    ["-N", "--empty-password"],
    ["-B", "-i", "batch"],
  ])
    await run(certutil, ["-d", "sql:.", ...options], { cwd: folder, timeout: certutilTimeoutMs });
  await Promise.all([...names, "batch"].map((name) => rm(join(folder, name))));
}
