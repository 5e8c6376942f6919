// Preloaded into a process under test: from SIGUSR2 on, its admission rejects every request.
import { registerHooks } from "node:module";
import * as kit from "../../../../kit/src/admission/admission.ts";

const replaced = "@tributary/kit/admission/admission";
let isRejecting = false;

process.on("SIGUSR2", () => {
  isRejecting = true;
});
registerHooks({
  resolve: (specifier, context, next) => next(specifier === replaced ? import.meta.url : specifier, context),
});

export function createAdmission(options: kit.AdmissionOptions): kit.Admission {
  const admission = kit.createAdmission(options);
  return {
    ...admission,
    enter(priority, callerKey, endsAtMs) {
      if (!isRejecting) return admission.enter(priority, callerKey, endsAtMs);
      options.observer?.onRejected(priority);
      return false;
    },
  };
}
