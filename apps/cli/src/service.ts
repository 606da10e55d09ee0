export { type ServiceProcess, startService } from "./core/start-service.ts";
