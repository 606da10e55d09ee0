import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSites } from "./start-sites.ts";

// Runs the login sites until Ctrl+C, to look at them by hand.
const sites = await startSites();
const folder = mkdtempSync(join(tmpdir(), "shoal-sites-"));
const authority = join(folder, "authority.pem");
writeFileSync(authority, sites.proxy.config.ca_bundle);
const { port } = sites.proxy.config;
process.stdout.write(`Login sites run behind a proxy on port ${port}. https://sites.test/ lists them.

With Chromium on this machine:
  chromium --user-data-dir=${join(folder, "chromium")} --proxy-server=127.0.0.1:${port} --ignore-certificate-errors https://sites.test/

In a session of a service with --allow-private-hosts ${sites.privateHost}:
  shoal proxies create --type custom --protocol http --host 127.0.0.1 --port ${port} --ca-bundle "$(cat ${authority})"
  shoal browsers create --proxy-id ID --start-url https://sites.test/

Press Ctrl+C to stop.
`);
process.once("SIGINT", () => {
  void sites.close().then(() => {
    rmSync(folder, { recursive: true, force: true });
  });
});
