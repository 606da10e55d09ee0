import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** In a separate process, because a set-up cannot import packages from their sources. */
async function startServer(): Promise<{ address: string; child: ChildProcess }> {
  const program = fileURLToPath(new URL("shared-server.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=@shoal/source", program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [address] = (await Promise.race([
    once(createInterface(child.stdout), "line"),
    once(child, "close").then(([status]) => {
      throw new Error(`The PostgreSQL of the tests ended with ${String(status)}.`);
    }),
  ])) as [string];
  return { address, child };
}

/**
 * Set-up of Vitest: one PostgreSQL for all tests of a run, started with the first request. `SHOAL_TEST_DATABASES` is an
 * address that leads to it: see `sharedDatabase` of `@shoal/testkit`.
 */
export async function setup(): Promise<() => Promise<void>> {
  // Another project of this run has set it up.
  if (process.env.SHOAL_TEST_DATABASES !== undefined) return () => Promise.resolve();
  let starting: ReturnType<typeof startServer> | undefined;
  const listener = createServer((_request, response) => {
    starting ??= startServer();
    starting.then(
      ({ address }) => response.writeHead(307, { location: address }).end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("The system assigned no TCP port.");
  process.env.SHOAL_TEST_DATABASES = `http://127.0.0.1:${address.port}/`;
  return async () => {
    delete process.env.SHOAL_TEST_DATABASES;
    listener.closeAllConnections();
    listener.close();
    const child = (await starting?.catch(() => undefined))?.child;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    child.stdin?.end();
    await once(child, "close");
  };
}
