import { useState } from "react";
import { type Callers, nobody } from "./callers.ts";

/** Chooses who asks from now on. What runs already, and what was answered, stays. */
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
      <select value={chosen} onChange={(event: { target: { value: string } }) => choose(event.target.value)}>
        {callers.all.map(({ name, userId }) => (
          <option key={name} value={name}>
            {name} (user {userId})
          </option>
        ))}
        <option value={nobody}>nobody (no token)</option>
      </select>
    </label>
  );
}
