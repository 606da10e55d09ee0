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
