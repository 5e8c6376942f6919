import { useState } from "react";
import { anonymous, type Callers } from "./callers.ts";

/** Chooses the user whose token is sent with further requests. */
export function CallerSwitch({ callers }: { readonly callers: Callers }) {
  const [chosen, setChosen] = useState(callers.chosen());
  const choose = (name: string) => {
    callers.choose(name);
    setChosen(callers.chosen());
  };
  const scopes = callers.all.find(({ name }) => name === chosen)?.scopes ?? [];
  return (
    <label className="caller" title={scopes.length > 0 ? `Scopes: ${scopes.join(" ")}` : "No token is sent."}>
      Caller
      <select value={chosen} onChange={({ target }) => choose(target.value)}>
        {callers.all.map(({ name, userId }) => (
          <option key={name} value={name}>
            {name} (user {userId})
          </option>
        ))}
        <option value={anonymous}>anonymous (no token)</option>
      </select>
    </label>
  );
}
