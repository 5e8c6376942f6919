import type { RouteDeclaration } from "@tributary/kit/routes";

/** The orders team's public routes. Composition merges them with the other teams' into the proxy's table. */
export const routes = [
  { id: "placeOrder", method: "POST", path: "/orders", versions: [1], cache: "none", summary: "Place an order" },
  {
    id: "listOrders",
    method: "GET",
    path: "/orders",
    versions: [1],
    query: ["limit", "cursor", "status"],
    cache: "private",
    summary: "The caller's own orders, newest first",
  },
  { id: "getOrder", method: "GET", path: "/orders/:id", versions: [1], cache: "private", summary: "One order" },
  {
    id: "cancelOrder",
    method: "POST",
    path: "/orders/:id/cancellation",
    versions: [1],
    cache: "none",
    summary: "Cancel an order",
  },
  {
    id: "listUserOrders",
    method: "GET",
    path: "/users/:id/orders",
    versions: [1],
    query: ["limit", "cursor", "status"],
    cache: "private",
    summary: "A user's orders, newest first; none for a user whom nobody knows",
  },
  {
    id: "listProducts",
    method: "GET",
    path: "/products",
    versions: [1],
    query: ["limit", "cursor"],
    cache: "public",
    summary: "The catalogue, by sku",
  },
  { id: "getProduct", method: "GET", path: "/products/:sku", versions: [1], cache: "public", summary: "One product" },
] as const satisfies readonly RouteDeclaration[];
