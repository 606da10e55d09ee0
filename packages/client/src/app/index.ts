export {
  app,
  registeredApps,
  type App,
  type ActionContext,
  type ActionHandler,
  type ActionSchedule,
  type ActionSchemas,
  type RegisteredAction,
} from "./app.ts";
export { describeApps, type AppDescription, type DeclaredSchedule } from "./describe-apps.ts";
export { runAction, type RunAction } from "./run-action.ts";
export { type CheckedValue, type ValueSchema } from "./value-schema.ts";
