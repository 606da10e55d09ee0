import { createServer } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { onTestFinished } from "vitest";

const upstream = "https://registry.npmjs.org";

export interface TestRegistry {
  readonly url: string;
  readonly requests: string[];
  isDown: boolean;
}

/** A private registry in front of npm's, which requires a token. */
export async function openRegistry(token: string): Promise<TestRegistry> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    if (registry.isDown || request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(registry.isDown ? 503 : 401).end();
      return;
    }
    void fetch(`${upstream}${request.url ?? ""}`, { headers: { accept: request.headers.accept ?? "*/*" } }).then(
      (answer) => {
        response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
        if (answer.body === null) response.end();
        else Readable.fromWeb(answer.body as ReadableStream).pipe(response);
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const registry: TestRegistry = { url: `http://localhost:${String(port)}`, requests, isDown: false };
  return registry;
}
