import { readFileSync } from "node:fs";

const folder = new URL("../../../../tools/certificates/", import.meta.url);

/** Self-signed, for `localhost` and 127.0.0.1; for tests only. */
export const certificate = readFileSync(new URL("localhost.pem", folder), "utf8");

export const certificateKey = readFileSync(new URL("localhost.key", folder), "utf8");
