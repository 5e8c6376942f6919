// Stage 1 of 5: admit. Between the look-up of the document and its validation: whether an overloaded gateway serves the operation.
import type { Admission } from "@tributary/kit/admission/admission";
import { lowerByPriorityHeader, type PriorityClass } from "@tributary/kit/admission/priority";
import type { GatewayExchange } from "./exchange.ts";

export interface OperationAdmission {
  /**
   * Called after the caller is identified. An admitted request must be ended by `leave`.
   * @param declared the class of the operation; normal for a document that is not stored.
   * @returns whether the request is served; a promise only while the gateway is saturated.
   */
  enter(exchange: GatewayExchange, declared: PriorityClass): boolean | Promise<boolean>;
  leave(exchange: GatewayExchange): void;
}

export function createOperationAdmission(admission: Admission): OperationAdmission {
  return {
    enter({ request, caller }, declared) {
      const priority = lowerByPriorityHeader(declared, request.headers["priority"]);
      return admission.enter(priority, caller?.key ?? "");
    },
    leave: ({ caller, cpuMs }) => admission.leave(caller?.key ?? "", cpuMs),
  };
}
