# SPDX-License-Identifier: Apache-2.0
# include costmodel.mk: `make costmodel-check` fails if the model's cost increased, and
# `make costmodel-accept REASON='…'` updates the baseline (the reason is optional if no cost
# increased).
COSTMODEL ?= costmodel
COSTMODEL_MODEL ?= model.onnx
COSTMODEL_BASELINE ?= costmodel.json
COSTMODEL_FLAGS ?=

.PHONY: costmodel-check costmodel-accept

costmodel-check:
	$(COSTMODEL) check '$(COSTMODEL_MODEL)' --baseline '$(COSTMODEL_BASELINE)' $(COSTMODEL_FLAGS)

costmodel-accept:
	$(COSTMODEL) check '$(COSTMODEL_MODEL)' --baseline '$(COSTMODEL_BASELINE)' $(COSTMODEL_FLAGS) \
	  --update-baseline $(if $(REASON),--reason '$(subst ','\'',$(REASON))')
