import { EgressGateway } from "../egress/gateway.ts";
import { createEgressPolicy } from "../policy/egress-policy.ts";
import { createNameResolver } from "../policy/resolve-name.ts";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Runs a gateway with two sessions, and an API. Arguments: paths of the two sockets. Prints the API's port. */
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const gateway = new EgressGateway(silent);
for (const path of process.argv.slice(2))
  await gateway.open(path, createEgressPolicy(["127.0.0.1"], createNameResolver()));
const api = createServer((_request, response) =>
  response.setHeader("connection", "close").end(JSON.stringify(gateway.traffic())),
);
api.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${String((api.address() as AddressInfo).port)}\n`);
});
process.stdin.resume().on("end", () => process.exit());
