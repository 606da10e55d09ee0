import * as z from "zod/mini";
import { checked } from "../base/schema.ts";

export const disconnectTimeout = () => checked(z.int(), z.minimum(0), z.maximum(86_400));
