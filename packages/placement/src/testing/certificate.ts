import { readFileSync } from "node:fs";

const folder = new URL("../../../../tools/certificates/", import.meta.url);

/** A certificate for `localhost` and 127.0.0.1, for tests alone; signed by itself. */
export const certificate = readFileSync(new URL("localhost.pem", folder), "utf8");

/** Its key. */
export const certificateKey = readFileSync(new URL("localhost.key", folder), "utf8");
