import { copyFile, lstat, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const boundDirectories = [
  "alternatives",
  "ca-certificates",
  "crypto-policies",
  "fonts",
  "ld.so.conf.d",
  "pki/ca-trust/extracted",
  "pki/tls/certs",
  "ssl/certs",
];
/** Copies; a bind would cost a mount per start. */
const copiedFiles = [
  "debian_version",
  "host.conf",
  "ld.so.cache",
  "ld.so.conf",
  "locale.alias",
  "mime.types",
  "protocols",
  "services",
  "ssl/openssl.cnf",
];

const own: Readonly<Record<string, string>> = {
  passwd: "shoal:x:1000:1000:shoal:/home/shoal:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
  group: "shoal:x:1000:\nnogroup:x:65534:\n",
  "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n",
  hosts: "127.0.0.1 localhost shoal\n::1 localhost\n",
  hostname: "shoal\n",
};

/** Of Chromium, Chrome and Chrome for Testing. */
const policyFolders = [
  "chromium/policies/managed",
  "opt/chrome/policies/managed",
  "opt/chrome_for_testing/policies/managed",
];

export interface SandboxEtc {
  readonly path: string;
  readonly bound: readonly string[];
}

/** Fonts, certificates and one user, without accounts or secrets of the host. `policies`: a path in the box. */
export async function makeSandboxEtc(path: string, policies: string): Promise<SandboxEtc> {
  await mkdir(path, { mode: 0o755 });
  const bound: string[] = [];
  for (const name of boundDirectories) {
    if (
      !(await lstat(join("/etc", name)).then(
        (found) => found.isDirectory(),
        () => false,
      ))
    )
      continue;
    await mkdir(join(path, name), { recursive: true });
    bound.push(name);
  }
  for (const name of copiedFiles) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await copyFile(join("/etc", name), join(path, name)).catch(() => undefined);
  }
  for (const [name, text] of Object.entries(own)) await writeFile(join(path, name), text);
  for (const folder of policyFolders) {
    await mkdir(dirname(join(path, folder)), { recursive: true });
    await symlink(policies, join(path, folder));
  }
  await symlink("../usr/lib/os-release", join(path, "os-release"));
  // Without it, ICU opens every time zone file four times per program of the browser.
  await symlink("../usr/share/zoneinfo/Etc/UTC", join(path, "localtime"));
  return { path, bound };
}
