// Lists the operations without an implementation. Needs the packages' sources (`--conditions=@shoal/source`).
import * as contract from "../packages/contract/src/operations.ts";
import { notImplemented as ofControl } from "../apps/server/src/http/not-implemented.ts";
import { notImplemented as ofInstance } from "../packages/instance/src/protocol/not-implemented.ts";

/** Ids of the operations that answer 501, such as `credentials.create`. */
export const operationsNotYet = new Set([...ofControl, ...ofInstance].map((name) => contract[name].operationId));
