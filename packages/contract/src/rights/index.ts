export {
  type Data,
  dataRights,
  isAtLeast,
  mayApp,
  mayAppMove,
  mayMove,
  type Move,
  neededRole,
  type Role,
  roles,
} from "./data-rights.ts";
export {
  type Grant,
  type JudgedOperation,
  KeyPolicy,
  objectOf,
  type PolicyObject,
  type VisibleObjects,
} from "./key-policy.ts";
export {
  type ObjectAction,
  objectActions,
  policyAction,
  type PolicyKind,
  policyResource,
  type PolicyStatement,
  type PolicyStatements,
  statementProblem,
} from "./policy-actions.ts";
export { connectionOperation, type SessionConnection, sessionConnections } from "./session-connections.ts";
