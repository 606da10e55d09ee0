export { type BackupSource, isBackedUp, openBackupSource, type TableChunk } from "./backup/backup-source.ts";
export { openRestoreTarget, type RestoreTarget } from "./backup/restore-target.ts";
export { copyEmbedded } from "./embedded/copy-embedded.ts";
export { removeEmbedded } from "./embedded/remove-embedded.ts";
export type { Change, ChangeListener } from "./change-feed.ts";
export { DatabaseError, type DatabaseErrorCode } from "./database-error.ts";
export { type FileLock, lockFile } from "./file-lock.ts";
export type { DatabaseLog } from "./log.ts";
export { containsFolded, folded } from "./name-search.ts";
export { type Database, type DatabaseOptions, openDatabase } from "./open-database.ts";
export { schemaDigest } from "./migrations/schema-digest.ts";
export { openRunningDatabase, openSecondDatabase, type SecondDatabase } from "./open-second.ts";
export type { HeldConnection, OneTransaction } from "./one-transaction.ts";
export { type Outage, outageOf } from "./outage.ts";
export { isOutdatedPlan } from "./prepared-statements.ts";
export type {
  BrowserPoolsTable,
  BrowserPoolWaitersTable,
  DeploymentKeysTable,
  IdempotencyKeysTable,
  InvocationAttempt,
  InvocationsTable,
  OrganizationTable,
  ExtensionsTable,
  ProxiesTable,
  ProjectsTable,
  ServersTable,
  SessionLifecycle,
  SessionsTable,
  Tables,
} from "./tables.ts";
export type { AuditExportDestinationsTable, AuditLogsTable } from "./tables/audit-tables.ts";
export type { RateLimitUsesTable } from "./tables/rate-limit-tables.ts";
export type { ApiKeysTable, ApiKeyUsesTable } from "./tables/api-key-tables.ts";
export type {
  AppActionColumn,
  AppLogChunksTable,
  AppVersionsTable,
  DeploymentsTable,
  SchedulesTable,
} from "./tables/app-tables.ts";
export type {
  AuthConnectionsTable,
  AuthFlowsTable,
  CredentialProvidersTable,
  CredentialsTable,
  CredentialValuesTable,
} from "./tables/auth-tables.ts";
export type { UsersTable } from "./tables/console-tables.ts";
export type { ProfilesTable } from "./tables/profile-tables.ts";
export type { Timestamp, TimestampOfInsert } from "./tables/column-types.ts";
export type { WebhookDeliveriesTable, WebhooksTable } from "./tables/webhook-tables.ts";
