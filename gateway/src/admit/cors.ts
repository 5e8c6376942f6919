// Stage 1 of 5: admit. From which origins a page may send operations, and with which headers.
import { type Cors, type CorsOptions, createCors } from "@tributary/kit/http/cors";
import { defaultRequiredHeaders } from "./csrf.ts";

export function createOperationCors(o: CorsOptions): Cors {
  return createCors({ ...o, allowedHeaders: [...defaultRequiredHeaders, ...o.allowedHeaders] });
}
