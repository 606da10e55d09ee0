// Which operations of the contract the service does not have yet. Needs the packages' sources (`--conditions=@shoal/source`).
import { contract } from "../packages/contract/src/contract.ts";
import { notImplemented as ofControl } from "../apps/server/src/not-implemented.ts";
import { notImplemented as ofInstance } from "../packages/instance/src/not-implemented.ts";

/** Ids of the operations that answer 501, `credentials.create`. */
export const operationsNotYet = new Set([...ofControl, ...ofInstance].map((name) => contract[name].operationId));
