export function placeOrder(cart, total) {
  return { items: cart.items, total, placed: new Date().toISOString().slice(0, 10) };
}
