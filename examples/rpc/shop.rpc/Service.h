#ifndef SHOP_RPC_SERVICE_H
#define SHOP_RPC_SERVICE_H

#include "shop/Client.h"
#include "shop/rpc/order/Writable_Database.h"

namespace shop::rpc {

class Service {
 public:
  explicit Service(shop::Client& client) : client_(client) {}

  // Takes all items from the stock, or none. Fills in what is left of each.
  void buy(order::Writable_Database& message) {
    client_.transaction([&](shop::Writable_Database& db) {
      for (const auto item : message.get_item_table()) {
        const std::string name(message.get_name(item));
        const auto product = db.find_product_by_name(name);
        if (product.is_null()) throw joedb::Exception("there is no " + name);
        const std::int32_t left = db.get_stock(product) - message.get_quantity(item);
        if (left < 0) throw joedb::Exception("there is not enough " + name);
        db.set_stock(product, left);
        message.set_left(item, left);
      }
    });
  }

  // Appends all products. The message has the schema of the database.
  void list(shop::Writable_Database& message) {
    const shop::Database& db = client_.get_database();
    for (const auto product : db.get_product_table())
      message.new_product(db.get_name(product), db.get_stock(product));
  }

 private:
  shop::Client& client_;
};

}  // namespace shop::rpc

#endif
