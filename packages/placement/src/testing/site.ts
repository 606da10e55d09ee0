import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { onTestFinished } from "vitest";

/** A page of this machine, until the test ends. */
export async function startSite(): Promise<Server> {
  const site = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html", connection: "close" }).end("<body>the host's page</body>");
  });
  onTestFinished(() => {
    site.close();
  });
  await once(site.listen(0, "127.0.0.1"), "listening");
  return site;
}
