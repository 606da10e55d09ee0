import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FakeHost, startFakeHost } from "./fake-host.ts";

export interface FakeEngine extends Pick<FakeHost, "end" | "names"> {
  readonly address: string;
  /** For `--docker-tls-dir`. */
  readonly tlsDir: string;
}

const certificates = join(import.meta.dirname, "../../../../tools/certificates");

/** A container engine with TLS, which runs containers as sandboxed processes of this machine. */
export async function startFakeEngine(): Promise<FakeEngine> {
  const host = await startFakeHost("fake-engine-process.ts");
  const tlsDir = mkdtempSync(join(tmpdir(), "shoal-engine-"));
  for (const name of ["ca.pem", "cert.pem"]) copyFileSync(join(certificates, "localhost.pem"), join(tlsDir, name));
  copyFileSync(join(certificates, "localhost.key"), join(tlsDir, "key.pem"));
  return {
    address: host.first[0] ?? "",
    tlsDir,
    names: () => host.names(),
    async end() {
      await host.end();
      rmSync(tlsDir, { recursive: true });
    },
  };
}
